import { textHash } from '../../state/values/text-hash.ts';
import type { NameForm } from '../inference/request-form.ts';

/** The length of the hash in a name that was changed. */
const HASH_LENGTH = 8;

/** Makes names legal for a provider. The same name always becomes the same legal name, and different names different ones. */
export class LegalNames {
  private readonly form: NameForm;
  private readonly legal: RegExp;
  private readonly illegal: RegExp;
  /** The name that was found legal last: a result has that of its call, and the next call often too. */
  private lastLegal: string | undefined;

  constructor(form: NameForm) {
    const { characters, first = characters, maxLength, minLength = 1 } = form;
    this.form = form;
    this.legal = new RegExp(`^[${first}][${characters}]{${minLength - 1},${maxLength - 1}}$`);
    this.illegal = new RegExp(`[^${characters}]`, 'g');
  }

  private static readonly known = new WeakMap<NameForm, LegalNames>();

  static for(form: NameForm): LegalNames {
    let names = LegalNames.known.get(form);
    if (names === undefined) LegalNames.known.set(form, (names = new LegalNames(form)));
    return names;
  }

  isLegal(name: string): boolean {
    if (name === this.lastLegal) return true;
    const isLegal = this.legal.test(name);
    if (isLegal) this.lastLegal = name;
    return isLegal;
  }

  /** Returns the name when it is legal, or else a legal name with a hash. `salt` gives another one. */
  of(name: string, salt = 0): string {
    if (this.isLegal(name)) return name;
    const { maxLength, minLength = 1 } = this.form;
    const hash = textHash(salt === 0 ? name : `${salt} ${name}`);
    if (minLength > HASH_LENGTH + 1 || !this.legal.test(`a_${hash.slice(0, HASH_LENGTH)}`))
      return `a${hash}`.slice(0, maxLength).padEnd(minLength, '0');
    const kept = name.replace(this.illegal, '_').slice(0, maxLength - HASH_LENGTH - 1);
    const readable = `${kept}_${hash.slice(0, HASH_LENGTH)}`;
    return this.legal.test(readable) ? readable : `a${readable}`.slice(0, maxLength);
  }
}

/** Makes the ids of calls legal for a provider. Ids of one conversation that differ stay different. */
export class LegalIds {
  private readonly names: LegalNames;
  private readonly sent = new Map<string, string>();
  private readonly given = new Map<string, string>();

  constructor(form: NameForm) {
    this.names = LegalNames.for(form);
  }

  /** True for an id that is sent as it is. */
  isPlain(id: string): boolean {
    return this.given.size === 0 && this.names.isLegal(id);
  }

  /** Returns the id to send. A conversation asks for its ids in order. */
  of(id: string): string {
    const known = this.sent.get(id);
    if (known !== undefined) return known;
    if (this.isPlain(id)) return id;
    let legal = this.names.of(id);
    for (let salt = 1; (this.given.get(legal) ?? id) !== id; salt++) legal = this.names.of(`${id} `, salt);
    if (legal === id) return id;
    this.sent.set(id, legal);
    this.given.set(legal, id);
    return legal;
  }
}
