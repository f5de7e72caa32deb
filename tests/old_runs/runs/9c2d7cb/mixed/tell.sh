#!/bin/sh
cat >> told
