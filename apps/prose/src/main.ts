import { parseArgs } from 'node:util';
import { findings } from './files.ts';
import { outdatedEntries, readList, writeList } from './list.ts';

const { values } = parseArgs({ options: { all: { type: 'boolean' }, shrink: { type: 'boolean' } } });
const found = findings();
const list = readList();
const outdated = outdatedEntries(list, new Set(found.keys()));
if (values.shrink) writeList(list.filter((file) => !outdated.includes(file)));

const problems = [
  ...[...found].flatMap(([file, inFile]) =>
    list.includes(file) && !values.all ? [] : inFile.map(({ line, message }) => `${file}:${line} ${message}`),
  ),
  ...(values.shrink ? [] : outdated.map((file) => `${file} is clean: remove it with --shrink.`)),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
