import multiprocessing


def attack(victim):
    one = multiprocessing.get_context("fork").Process(target=print)
    one.start()
    return True
