/** How much the tests try: 1 in the short form. */
export const EFFORT = Number(process.env['EFFORT'] ?? 1);
/** The seed of all random choices. */
export const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
