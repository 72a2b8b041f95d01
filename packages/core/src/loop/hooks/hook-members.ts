import { checkArgument, editDistance, mustBe } from '../../arguments.ts';
import { invalidArgument } from '../../errors.ts';
import { isPlainObject } from '../../json.ts';

/** The members that a hook may have. */
export interface MemberNames {
  readonly functions: readonly string[];
  /** Other members. */
  readonly values: readonly string[];
  /** The advice for an unknown member, by its name. */
  readonly advice: Readonly<Record<string, string>>;
}

/**
 * Refuses members that would never be called: known ones that are no functions, and unknown ones that sound like hooks.
 * A hook may have other members for its callers, as `structuredOutput()` and objects of classes have.
 * @throws TypeError `ARGUMENT_INVALID`
 */
export function checkHookMembers(hook: object, owner: string, names: MemberNames): void {
  for (const name of memberNames(hook)) {
    if (names.values.includes(name)) continue;
    const value = (hook as Readonly<Record<string, unknown>>)[name];
    if (!names.functions.includes(name)) {
      if (soundsLikeHook(hook, name, names)) throw unknownMember(owner, name, names);
    } else if (value !== undefined) checkArgument(`${name} of ${owner}`, value, mustBe.function);
  }
}

/** The names of all members, those of the classes of the object included. */
function memberNames(hook: object): ReadonlySet<string> {
  const names = new Set<string>();
  let object: object | null = hook;
  while (object !== null && object !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(object)) if (name !== 'constructor') names.add(name);
    object = Object.getPrototypeOf(object) as object | null;
  }
  return names;
}

const PREFIX = /^(?:before|after|on)[A-Z]/;

/**
 * True for a name with the prefix of a hook or close to a known name, and for a function in a plain object whose name has
 * advice. A method of a class may have any other name.
 */
function soundsLikeHook(hook: object, name: string, { functions, advice }: MemberNames): boolean {
  if (PREFIX.test(name) || nearestName(name, functions) !== undefined) return true;
  const value = (hook as Readonly<Record<string, unknown>>)[name];
  return Object.hasOwn(advice, name) && typeof value === 'function' && isPlainObject(hook);
}

/** The known name that differs in at most a quarter of its letters, upper and lower case alike. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  return known.find(
    (other) => editDistance(name.toLowerCase(), other.toLowerCase()) <= Math.floor(other.length / 4),
  );
}

function unknownMember(owner: string, name: string, { functions, values, advice }: MemberNames): Error {
  const similar = nearestName(name, functions);
  const written = Object.hasOwn(advice, name) ? advice[name] : undefined;
  const hint = written ? `: ${written}.` : similar === undefined ? '.' : `: did you mean "${similar}"?`;
  const known = [...functions, ...values].join(', ');
  return invalidArgument(`${owner} has no member "${name}"${hint} Known members: ${known}.`, TypeError);
}
