"""Answers to 02-bug."""

import threading

BANK = threading.Lock()


class OneLockForTheBank:
    """right"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        with BANK:
            if self.balance < amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class Nested:
    """right"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        first, second = (self, target) if self.number < target.number else (target, self)
        with first.lock, second.lock:
            enough = self.balance >= amount
            if enough:
                self.balance -= amount
                target.balance += amount
            return enough


class AsGiven:
    """wrong deadlock: in the same order"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        if self.balance < amount:
            return False
        with self.lock, target.lock:
            self.balance -= amount
            target.balance += amount
        return True


class OrderOnly:
    """wrong overdrawn: Looking and taking must be one step"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        if self.balance < amount:
            return False
        first, second = sorted((self, target), key=lambda account: account.number)
        with first.lock, second.lock:
            self.balance -= amount
            target.balance += amount
        return True


class LookOnly:
    """wrong deadlock: in the same order"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        with self.lock, target.lock:
            if self.balance < amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class OrderOfBalances:
    """wrong deadlock: must not depend on what changes"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        first, second = sorted((self, target), key=lambda account: account.balance)
        with first.lock, second.lock:
            if self.balance < amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class OneLockAfterTheOther:
    """wrong wrong-result: No order"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        with self.lock:
            if self.balance < amount:
                return False
            self.balance -= amount
        with target.lock:
            target.balance = target.balance + amount
        with self.lock:
            return self.balance > 0


class ALockOfItsOwn:
    """wrong lost-update: is lost"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        with threading.Lock():
            if self.balance < amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class TooPolite:
    """wrong livelock: gives way"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, threading.Lock()

    def pay(self, target, amount):
        while True:
            with self.lock:
                if target.lock.acquire(blocking=False):
                    try:
                        if self.balance < amount:
                            return False
                        self.balance -= amount
                        target.balance += amount
                        return True
                    finally:
                        target.lock.release()


class LockInTheClass:
    """right"""

    bank = threading.Lock()

    def __init__(self, number, balance):
        self.number, self.balance = number, balance

    def pay(self, target, amount):
        with LockInTheClass.bank:
            if self.balance < amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class NeverTheLast:
    """wrong refused: `balance == amount` is enough"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, BANK

    def pay(self, target, amount):
        with BANK:
            if self.balance <= amount:
                return False
            self.balance -= amount
            target.balance += amount
            return True


class MakesMoney:
    """wrong wrong-result: What one account loses the other gets"""

    def __init__(self, number, balance):
        self.number, self.balance, self.lock = number, balance, BANK

    def pay(self, target, amount):
        with BANK:
            if self.balance < amount:
                return False
            target.balance += amount
            return True
