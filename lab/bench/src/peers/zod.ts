/** The members of zod that the peers use. */
export interface Zod {
  readonly z: {
    object(shape: Readonly<Record<string, object>>): object;
    number(): object;
    string(): object;
  };
}
