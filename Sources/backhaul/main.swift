import CBackhaul
