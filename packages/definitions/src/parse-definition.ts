import { invalidArgument } from '@holdfast/core';
import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/engine';
import type { AgentDefinition } from '@holdfast/core';
import { checkMembers } from './check-members.ts';
import type { DefinitionFormat } from './definition-format.ts';
import { DEFINITION_ENDINGS, DEFINITION_FORMATS, formatOf } from './definition-format.ts';
import { isMembers, toDefinition } from './definition-members.ts';
import type { Members } from './definition-members.ts';
import { splitFrontMatter } from './front-matter.ts';
import { ProblemReport } from './problem-report.ts';
import type { SourcePosition, SourceTree } from './source-tree.ts';
import { parseJson, parseYaml } from './source-tree.ts';

/** Enough for a prompt of 20,000 words, and so little that no text takes long to refuse. */
const MAX_FILE_BYTES = 128 * 1024;

/** What is known about a text. */
export interface ParseDefinitionOptions {
  /** The file that it is from, as problems shall name it. */
  readonly file: string;
  /** Default: as the ending of `file` says. */
  readonly format?: DefinitionFormat;
}

const checkOptions = optionsCheck<ParseDefinitionOptions>(
  'parseDefinition',
  { file: mustBe.required(mustBe.string), format: mustBe.oneOf([...DEFINITION_FORMATS]) },
  { path: 'write "file"', name: 'write "file"', type: 'write "format"' },
);

/** A definition, and where its file names it. @internal */
export interface LocatedDefinition {
  readonly definition: AgentDefinition;
  readonly place: SourcePosition | undefined;
}

/**
 * Reads a definition from a text. Its keys are those of `AgentDefinition`, and `model`; the README says more.
 * @throws DefinitionError with all that does not fit; RangeError or TypeError `ARGUMENT_INVALID` when the format is not known,
 * and for an unknown option or a value that does not fit.
 * @example parseDefinition('---\nname: writer\n---\nYou write well.', { file: 'writer.md' }).systemPrompt
 */
export function parseDefinition(text: string, options: ParseDefinitionOptions): AgentDefinition {
  return parseLocated(text, options).definition;
}

/** The same, with the place of the name. @internal */
export function parseLocated(text: string, options: ParseDefinitionOptions): LocatedDefinition {
  const format = checkedFormat(text, options);
  const report = new ProblemReport(options.file);
  checkSize(Buffer.byteLength(text), report);
  // Lines end alike on every machine, so that the same file is the same definition.
  const { tree, body } = openText(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'), format, report);
  for (const problem of tree.problems) report.add(problem);
  report.throwIfAny();
  const members = membersOf(tree, report);
  checkMembers({ members, tree, isJson: format === 'json', body, report });
  report.throwIfAny();
  const definition = toDefinition(body ? { ...members, systemPrompt: body } : members);
  return { definition, place: tree.placeOf(['name'], 'value') };
}

/** Refuses a file that is too large. @internal */
export function checkSize(bytes: number, report: ProblemReport): void {
  if (bytes <= MAX_FILE_BYTES) return;
  report.fail({
    expected: `at most ${MAX_FILE_BYTES} bytes`,
    found: `${bytes} bytes`,
    advice: 'Keep long texts elsewhere, where a tool can read them.',
  });
}

function checkedFormat(text: string, options: ParseDefinitionOptions): DefinitionFormat {
  checkArgument('The text of a definition', text, mustBe.string);
  const { file, format = formatOf(file) } = checkOptions(options);
  if (format !== undefined) return format;
  const formats = [...DEFINITION_FORMATS].join(', ');
  throw invalidArgument(
    `The format of "${file}" is not known: let its name end in one of ${DEFINITION_ENDINGS}, or pass a format of ${formats}.`,
  );
}

interface OpenText {
  readonly tree: SourceTree;
  readonly body: string | undefined;
}

function openText(text: string, format: DefinitionFormat, report: ProblemReport): OpenText {
  if (format === 'json') return { tree: parseJson(text), body: undefined };
  if (format === 'yaml') return { tree: parseYaml(text), body: undefined };
  const parts = splitFrontMatter(text);
  if (typeof parts === 'object') return { tree: parseYaml(parts.head), body: parts.body };
  return report.fail({
    line: 1,
    column: 1,
    expected: 'front matter between two lines of ---',
    found: `${parts} line`,
    advice:
      'Write ---, name: …, --- and the prompt below; a file that is no agent may have a name that begins with _.',
  });
}

function membersOf({ value }: SourceTree, report: ProblemReport): Members {
  if (isMembers(value)) return value;
  const found = Array.isArray(value) ? 'a list' : value === null ? 'nothing' : `a ${typeof value}`;
  const advice = 'For example name: "writer".';
  return report.fail({ line: 1, column: 1, expected: 'keys with values', found, advice });
}
