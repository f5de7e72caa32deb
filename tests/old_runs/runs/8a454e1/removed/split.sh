#!/bin/sh
printf 'x 0\ny 3\nz 0\n' > list
