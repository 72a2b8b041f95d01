import { isMembers, misfitOf, toDefinitionMembers, type Members } from './definition-members.ts';
import { adviceForUnknown, adviceForValue, isKnownKey, LIST_KEYS, OBJECT_KEYS } from './file-keys.ts';
import type { ProblemReport } from './problem-report.ts';
import type { Path, SourceTree } from './source-tree.ts';

/** The members of one file, and the report for its problems. */
export interface CheckedFile {
  readonly members: Members;
  readonly tree: SourceTree;
  readonly isJson: boolean;
  /** The text below the front matter of a Markdown file; `undefined` for other files. */
  readonly body: string | undefined;
  readonly report: ProblemReport;
}

/**
 * Reports all problems of a file. `agentDefinition` of the core checks each part on its own, so that one problem does not
 * hide another.
 */
export function checkMembers(file: CheckedFile): void {
  const { members, report, isJson } = file;
  for (const [key, value] of Object.entries(members)) {
    if (report.isFull) return;
    if (isKnownKey([key])) checkMember(file, key, value);
    else reportUnknown(file, [key]);
  }
  if (!Object.hasOwn(members, 'name')) {
    const advice = adviceForValue(['name'], isJson);
    report.add({ key: 'name', expected: 'a name', found: 'nothing', advice });
  }
  checkModel(file);
  checkPrompt(file);
}

function checkMember(file: CheckedFile, key: string, value: unknown): void {
  const whole = toDefinitionMembers(key, value);
  let fits = true;
  for (const [path, part] of partsOf(key, whole[key])) {
    if (file.report.isFull) return;
    fits = checkPart(file, path, part) && fits;
  }
  if (fits) checkFit(file, [key], whole);
}

/** Yields each member of an object, or element of a list, with its path, as the only member of its key. */
function* partsOf(key: string, value: unknown): Iterable<readonly [Path, Members]> {
  if (LIST_KEYS.has(key) && Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield [[key, index], { [key]: [element] }];
  } else if (OBJECT_KEYS.has(key) && isMembers(value)) {
    for (const [name, member] of Object.entries(value)) yield [[key, name], { [key]: { [name]: member } }];
  }
}

function checkPart(file: CheckedFile, path: Path, part: Members): boolean {
  const isFree = path[0] === 'capabilities' || typeof path[1] === 'number';
  if (isFree || isKnownKey(path)) return checkFit(file, path, part);
  reportUnknown(file, path);
  return false;
}

function checkFit({ tree, report, isJson }: CheckedFile, path: Path, members: Members): boolean {
  const misfit = misfitOf(members);
  if (misfit === undefined) return true;
  // `model` is short for `llmConfig.model`, so the core's path has one key more.
  const depth = path[0] === 'model' ? 2 : path.length;
  const place = [...path, ...misfit.path.slice(depth)];
  const key = keyText(place);
  const expected = key === 'budget.deadline' ? 'a date and time with its offset from UTC' : misfit.expected;
  const advice = adviceForValue(place, isJson);
  report.add({ ...tree.placeOf(place, 'value'), key, expected, found: misfit.found, advice });
  return false;
}

function reportUnknown({ tree, report }: CheckedFile, path: Path): void {
  const found = JSON.stringify(path.at(-1));
  const advice = adviceForUnknown(path);
  report.add({ ...tree.placeOf(path, 'key'), key: keyText(path), expected: 'a known key', found, advice });
}

function checkModel(file: CheckedFile): void {
  const { model, llmConfig } = file.members;
  if (model === undefined || !isMembers(llmConfig) || llmConfig['model'] === undefined) return;
  reportBoth(file, 'model', 'either model or llmConfig.model');
}

function checkPrompt(file: CheckedFile): void {
  const { members, body, report } = file;
  if (body === undefined) return;
  const key = 'systemPrompt';
  const hasKey = Object.hasOwn(members, key);
  if (hasKey && body !== '') reportBoth(file, key, 'either systemPrompt or a prompt below the front matter');
  if (hasKey || body !== '') return;
  const advice = 'Write the prompt below the second line of ---.';
  report.add({ key, expected: 'a system prompt below the front matter', found: 'nothing', advice });
}

function reportBoth({ tree, report }: CheckedFile, key: string, expected: string): void {
  report.add({ ...tree.placeOf([key], 'key'), key, expected, found: 'both', advice: 'Remove one of them.' });
}

/** A path as text: `budget.maxSteps`, `tools[1]`. */
function keyText(path: Path): string {
  const texts = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return texts.join('').replace(/^\./, '');
}
