import { expect, test } from 'vitest';
import { blobNotePrefix, incarnationOfBlobNote } from '../../src/blobs/blob-keys.ts';
import { incarnationOfMarker, markerKey } from '../../src/inbox/inbox-keys.ts';
import { deletionNoteKey, incarnationOfDeletionNote } from '../../src/session/incarnation-removal.ts';

const incarnation = 'an#odd#one';

test('the incarnation in the sort keys of notes and markers is found, whatever characters it contains', () => {
  const item = { position: 3, hash: 'hash', unique: 'unique', parts: 1 };
  expect(incarnationOfMarker(markerKey(incarnation, item))).toBe(incarnation);
  expect(incarnationOfDeletionNote(deletionNoteKey(incarnation))).toBe(incarnation);
  for (const name of ['', 'ticket'])
    expect(incarnationOfBlobNote(blobNotePrefix(incarnation) + name)).toBe(incarnation);
});
