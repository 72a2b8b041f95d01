/** What must compile, and what must not. Checked by the compiler; nothing here is run. */
import { expectTypeOf } from 'vitest';
import {
  readCount,
  readOneOf,
  readShape,
  readString,
  readVariant,
  shapeOf,
  type Read,
  type Shape,
} from '../../src/document.ts';
import type { Approval } from '../../src/state/tools/approval.ts';

// The type of a shape is computed from its readers

const shape = shapeOf({ name: readString, 'count?': readCount, kind: readOneOf(['a', 'b']) });
expectTypeOf(shape).toEqualTypeOf<
  Shape<{ readonly name: string; readonly kind: 'a' | 'b' } & { readonly count?: number }>
>();

// @ts-expect-error A type of one's own is no readers.
shapeOf<Approval>({ oops: readString });
// @ts-expect-error A member that the type has is missing.
export const withoutMember: Shape<Approval> = shapeOf({ oops: readString });
// @ts-expect-error A member is read as another type.
export const withOtherMember: Shape<Approval> = shapeOf({ requestedAt: readString });
// @ts-expect-error A member that must be there may be absent.
export const withOptionalMember: Shape<Approval> = shapeOf({ 'requestedAt?': readCount });
// @ts-expect-error An object that was read has the type of its shape.
export const readWrongly: Read<Approval> = (reader, value) => readShape(reader, value, shape);

// A variant has the value that chose its shape

const read = readVariant('type', { one: shapeOf({ type: readString }), many: shapeOf({ count: readCount }) });
type OneOrMany = { readonly type: 'one' } | { readonly type: 'many'; readonly count: number };
export const readOneOrMany: Read<OneOrMany> = read;
// @ts-expect-error The variant "many" is missing from the type.
export const readOne: Read<{ readonly type: 'one' }> = read;
