"""Answers to 05-crossing."""

import math


def by_seconds(intensity, cpu, gpu, link, calls):
    """right"""
    on_cpu = intensity / cpu
    on_gpu = intensity / gpu + 1 / link
    if on_cpu <= on_gpu:
        return None
    return calls / (on_cpu - on_gpu)


def over_a_common_denominator(intensity, cpu, gpu, link, calls):
    """right"""
    below = link * intensity * (gpu - cpu) - cpu * gpu
    return None if below <= 0 else calls * cpu * gpu * link / below


def never_asked(intensity, cpu, gpu, link, calls):
    """wrong never: it never pays"""
    return calls / (intensity / cpu - intensity / gpu - 1 / link)


def infinity_for_never(intensity, cpu, gpu, link, calls):
    """wrong never: Then return None"""
    gained = intensity / cpu - intensity / gpu - 1 / link
    return calls / gained if gained > 0 else math.inf


def a_byte_is_an_operation(intensity, cpu, gpu, link, calls):
    """wrong type: It does pay here"""
    gained = 1 / cpu - 1 / gpu - 1 / link
    return calls / gained if gained > 0 else None


def operations_on_the_link(intensity, cpu, gpu, link, calls):
    """wrong size: the link is not asked once for each operation"""
    return calls / (intensity / cpu - intensity / gpu - intensity / link)


def calls_alone(intensity, cpu, gpu, link, calls):
    """wrong size: Copies and the GPU's work take time"""
    return calls * cpu / intensity


def copies_with_the_wrong_sign(intensity, cpu, gpu, link, calls):
    """wrong size: they are a cost of the GPU"""
    return calls / (intensity / cpu - intensity / gpu + 1 / link)


def operations(intensity, cpu, gpu, link, calls):
    """wrong size: How many bytes are that"""
    gained = intensity / cpu - intensity / gpu - 1 / link
    return intensity * calls / gained if gained > 0 else None


def upside_down(intensity, cpu, gpu, link, calls):
    """wrong size: Turned upside down"""
    return (intensity / cpu - intensity / gpu - 1 / link) / calls


def elements(intensity, cpu, gpu, link, calls):
    """wrong size: Those are elements of 4 bytes"""
    gained = intensity / cpu - intensity / gpu - 1 / link
    return calls / gained / 4 if gained > 0 else None


def speeds_taken_from_each_other(intensity, cpu, gpu, link, calls):
    """wrong size: Write down the seconds of both sides"""
    return calls * (gpu - cpu) / intensity


def always_none(intensity, cpu, gpu, link, calls):
    """wrong type: one number"""
    return None


def a_sentence(intensity, cpu, gpu, link, calls):
    """wrong type: Return the number of bytes"""
    return "from 1 MB on"
