// Writes the table of providers into the README of the driver.
import { readFileSync, writeFileSync } from 'node:fs';
import { README, withTable } from './table.ts';

writeFileSync(README, withTable(readFileSync(README, 'utf8')));
