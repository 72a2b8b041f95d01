import { invalidArgument, type AgentDefinition } from '@holdfast/core';
import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/engine';
import { checkMembers } from './check-members.ts';
import {
  DEFINITION_ENDINGS,
  DEFINITION_FORMATS,
  formatOf,
  type DefinitionFormat,
} from './definition-format.ts';
import { isMembers, toDefinition, type Members } from './definition-members.ts';
import { splitFrontMatter } from './front-matter.ts';
import { ProblemReport } from './problem-report.ts';
import { parseJson, parseYaml, type SourcePosition, type SourceTree } from './source-tree.ts';

/** The largest file: enough for a prompt of 20,000 words, and small enough to refuse any text quickly. */
const MAX_FILE_BYTES = 128 * 1024;

/** The origin and format of a definition text. */
export interface ParseDefinitionOptions {
  /** The name of the file, which problems state. */
  readonly file: string;
  /** The format of the text. Default: by the extension of `file`. */
  readonly format?: DefinitionFormat;
}

const checkOptions = optionsCheck<ParseDefinitionOptions>(
  'parseDefinition',
  { file: mustBe.required(mustBe.string), format: mustBe.oneOf([...DEFINITION_FORMATS]) },
  { path: 'use "file"', name: 'use "file"', type: 'use "format"' },
);

/** A definition, and the position of its name in its file. @internal */
export interface LocatedDefinition {
  readonly definition: AgentDefinition;
  readonly place: SourcePosition | undefined;
}

/**
 * Reads a definition from a text. Its keys are the members of `AgentDefinition` and the short form `model`, as the README
 * describes.
 * @throws DefinitionError with all problems of the text; RangeError or TypeError `ARGUMENT_INVALID` for an unknown format or
 * option, and for an invalid value of an option.
 * @example parseDefinition('---\nname: writer\n---\nYou write well.', { file: 'writer.md' }).systemPrompt
 */
export function parseDefinition(text: string, options: ParseDefinitionOptions): AgentDefinition {
  return parseLocated(text, options).definition;
}

/** Like `parseDefinition`, and returns the position of the name too. @internal */
export function parseLocated(text: string, options: ParseDefinitionOptions): LocatedDefinition {
  const format = checkedFormat(text, options);
  const report = new ProblemReport(options.file);
  checkSize(Buffer.byteLength(text), report);
  // Normalizes line ends, so that a file has the same definition on every platform.
  const { tree, body } = openText(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'), format, report);
  for (const problem of tree.problems) report.add(problem);
  report.throwIfAny();
  const members = membersOf(tree, report);
  checkMembers({ members, tree, isJson: format === 'json', body, report });
  report.throwIfAny();
  const definition = toDefinition(body ? { ...members, systemPrompt: body } : members);
  return { definition, place: tree.placeOf(['name'], 'value') };
}

/** Checks the size of a file. @throws DefinitionError for a file that is too large. @internal */
export function checkSize(bytes: number, report: ProblemReport): void {
  if (bytes <= MAX_FILE_BYTES) return;
  report.fail({
    expected: `at most ${MAX_FILE_BYTES} bytes`,
    found: `${bytes} bytes`,
    advice: 'Move long texts to a place where a tool can read them.',
  });
}

function checkedFormat(text: string, options: ParseDefinitionOptions): DefinitionFormat {
  checkArgument('The text of a definition', text, mustBe.string);
  const { file, format = formatOf(file) } = checkOptions(options);
  if (format !== undefined) return format;
  const formats = [...DEFINITION_FORMATS].join(', ');
  throw invalidArgument(
    `Unknown format of file "${file}". Use a name that ends in one of ${DEFINITION_ENDINGS}, or pass one of the formats ${formats}.`,
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
      'Write ---, name: …, --- and then the prompt; if the file is not an agent, begin its name with _.',
  });
}

function membersOf({ value }: SourceTree, report: ProblemReport): Members {
  if (isMembers(value)) return value;
  const found = Array.isArray(value) ? 'a list' : value === null ? 'nothing' : `a ${typeof value}`;
  const advice = 'For example name: "writer".';
  return report.fail({ line: 1, column: 1, expected: 'keys with values', found, advice });
}
