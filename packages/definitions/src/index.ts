export { parseDefinition } from './parse-definition.ts';
export type { ParseDefinitionOptions } from './parse-definition.ts';
export { readDefinition } from './read-definition.ts';
export { DefinitionRegistry } from './definition-registry.ts';
export type { DefinitionFormat } from './definition-format.ts';
export { DefinitionError } from './definition-error.ts';
export type { DefinitionProblem } from './definition-error.ts';
