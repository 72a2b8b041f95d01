import { expect, test, vi } from 'vitest';
import { newWriteToken } from '../../../../src/session/store/record/write-token.ts';

const MANY = 100_000;

test('a token is 12 characters of base64url', () => {
  for (let count = 0; count < 1_000; count++) expect(newWriteToken()).toMatch(/^[\w-]{12}$/);
});

test('no two tokens are equal, and each character takes each value', () => {
  const tokens = new Set(Array.from({ length: MANY }, newWriteToken));
  expect(tokens.size).toBe(MANY);
  for (let place = 0; place < 12; place++) {
    expect(new Set([...tokens].map((token) => token[place])).size).toBe(64);
  }
});

test('a clock that stands still and a generator that repeats ids have no effect', () => {
  vi.useFakeTimers({ now: 0 });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  vi.spyOn(crypto, 'randomUUID').mockReturnValue('00000000-0000-4000-8000-000000000000');
  try {
    expect(new Set(Array.from({ length: 1_000 }, newWriteToken)).size).toBe(1_000);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

test('each token reads its bytes from the system, so a copied process gets other bytes', () => {
  const draw = vi.spyOn(crypto, 'getRandomValues');
  newWriteToken();
  newWriteToken();
  expect(draw.mock.calls.map(([bytes]) => bytes.byteLength)).toEqual([9, 9]);
  draw.mockRestore();
});

test('the bytes are encoded as base64url', () => {
  const bytes = Uint8Array.from({ length: 9 }, (_, index) => 255 - index * 31);
  const draw = vi.spyOn(crypto, 'getRandomValues').mockImplementation((into) => {
    new Uint8Array(into.buffer).set(bytes);
    return into;
  });
  expect(newWriteToken()).toBe(Buffer.from(bytes).toString('base64url'));
  draw.mockRestore();
});
