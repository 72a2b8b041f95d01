import { findings } from './files.ts';

for (const [file, inFile] of findings()) {
  for (const { line, message } of inFile) console.error(`${file}:${line} ${message}`);
  process.exitCode = 1;
}
