import { helpText, readCommand, UsageError, type Command } from './command-line.ts';
import { errorText } from './error-text.ts';
import { printable } from './invisible.ts';

/** Does what the command line asks for; returns the exit code. */
async function main(): Promise<number> {
  try {
    return await carryOut(readCommand(process.argv.slice(2), process.env));
  } catch (error) {
    process.stderr.write(`${printable(errorText(error))}\n`);
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write('Try --help.\n');
    return 2;
  }
}

/** Loads only what the command needs: help is instant. */
async function carryOut(command: Command): Promise<number> {
  switch (command.type) {
    case 'help':
      process.stdout.write(helpText);
      return 0;
    case 'prompt':
      return (await import('./terminal.ts')).runInTerminal(command);
    default:
      return (await import('./server/serve.ts')).serve(command);
  }
}

process.exitCode = await main();
