/** A fenced block of code in a page. */
export interface Block {
  /** The line of its fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** The path of the file that the block is, in the folder of its page. */
  readonly title: string | undefined;
  /** Whether the fence says `compile-only`: the program cannot run on this machine. */
  readonly isCompileOnly: boolean;
  readonly text: string;
}

/** Names of languages under which a program would escape the tests. Programs are written in `ts`. */
const REFUSED = new Set(['typescript', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'javascript']);

/** A fence and what it encloses, up to its closing fence or the end of the page. */
const FENCED = /^( *)(`{3,}|~{3,})([^\n]*)\n([^]*?)(?:^ *\2[`~]* *$|$(?![^]))/gm;

/** The blocks of a page, in its order. @throws Error for a fence that says what the tests do not know. */
export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(FENCED)].map((match) => {
    const [, indent = '', , info = '', lines = ''] = match;
    const line = markdown.slice(0, match.index).split('\n').length;
    const text = lines.replaceAll(new RegExp(`^ {0,${indent.length}}`, 'gm'), '').trimEnd();
    return { line, text, ...readInfo(info, line) };
  });
}

function readInfo(info: string, line: number): Pick<Block, 'language' | 'title' | 'isCompileOnly'> {
  const [language = '', ...words] = info.match(/title="[^"]*"|\S+/g) ?? [];
  const unknown = words.find((word) => word !== 'compile-only' && titleOf(word) === undefined);
  if (unknown !== undefined)
    throw new Error(`Line ${line}: the fence says ${unknown}. It may say title="…" or compile-only.`);
  if (REFUSED.has(language))
    throw new Error(`Line ${line}: the fence says ${language}. Write the program in ts.`);
  const title = words.map(titleOf).find((found) => found !== undefined);
  return { language, title, isCompileOnly: words.includes('compile-only') };
}

/** The path that a word of a fence gives: a relative one that stays in the folder of the page. */
function titleOf(word: string): string | undefined {
  const title = /^title="([\w.@-]+(?:\/[\w.@-]+)*)"$/.exec(word)?.[1];
  return title?.split('/').includes('..') ? undefined : title;
}

/** The expected output of a block, one line for each `// =>`. */
export function outputOf({ text }: Block): string {
  return [...text.matchAll(/\/\/ => ?(.*)$/gm)].map(([, line]) => line).join('\n');
}

/** Whether a block is a program: titled blocks are modules, unless they say what they print. */
export function isProgram({ language, title, isCompileOnly, text }: Block): boolean {
  return language === 'ts' && !isCompileOnly && (title === undefined || text.includes('// =>'));
}

/** The file that a block is, in the folder of its page. */
export function fileNameOf({ language, title, line }: Block): string | undefined {
  return title ?? (language === 'ts' ? `line-${line}.ts` : undefined);
}

/** The text of a block's file. The lines of code have the numbers that they have in the page, for messages. */
export function fileTextOf({ language, line, text }: Block): string {
  return `${language === 'ts' ? '\n'.repeat(line) : ''}${text}\n`;
}
