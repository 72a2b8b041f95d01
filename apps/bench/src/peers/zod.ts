/** What the peers use of their own zod. */
export interface Zod {
  readonly z: {
    object(shape: Readonly<Record<string, object>>): object;
    number(): object;
    string(): object;
  };
}
