import assert from 'node:assert/strict';
import { HOSTILE_VALUES } from '../case/hostile-values.ts';
import { inboxOf, itemIdsOf } from '../case/inbox-contents.ts';
import { storeCase, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { leaseSeconds: 60 };

/** The inbox: the values that items can hold. */
export const inboxValueCases: readonly UngroupedCase[] = [
  ...Object.entries(HOSTILE_VALUES).map(([what, value]) =>
    storeCase(`${what}: in the inbox`, async ({ store, created }) => {
      await created('a');
      await store.enqueue('a', { id: 'i', content: value });
      const { claim, inbox } = await store.claim('a', { workerId: 'Ada', ...LEASE });
      assert.deepEqual(inbox[0]?.content, value);
      assert.equal(JSON.stringify(inbox[0]?.content), JSON.stringify(value));
      assert.deepEqual((await store.renew(claim, LEASE)).inbox, inbox);
    }),
  ),
  storeCase('item ids can be any text, and never collide', async ({ store, created }) => {
    await created('a');
    const ids = [
      'i',
      'I',
      'i ',
      'i\0',
      'i\0j',
      '{}:*?\n/',
      '__proto__',
      '\u00e9',
      'e\u0301',
      '🦊',
      '\ufffd',
      '0',
    ];
    ids.push('x'.repeat(256), 'x'.repeat(1_000), `${'x'.repeat(999)}y`);
    for (const [index, id] of ids.entries())
      assert.equal(await store.enqueue('a', { id, content: index }), true, JSON.stringify(id));
    const { session, claim, inbox } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    assert.deepEqual(
      inbox.map(({ id, content }) => [id, content]),
      ids.map((id, index) => [id, index]),
    );
    let base = session;
    for (const [index, id] of ids.entries()) {
      base = await store.save(base, { base, epoch: claim.epoch, acknowledge: [{ id, position: index }] });
      assert.deepEqual(await itemIdsOf(store, claim), ids.slice(index + 1));
    }
  }),
  storeCase('a large inbox, and large items', async ({ store, created }) => {
    await created('a');
    const text = 'é'.repeat(50_000);
    for (let index = 0; index < 40; index++)
      await store.enqueue('a', { id: `item ${index}`, content: `${index} ${text}` });
    const inbox = await inboxOf(store);
    assert.deepEqual(
      inbox.map(({ content }) => content),
      inbox.map((_, index) => `${index} ${text}`),
    );
    assert.equal(inbox.length, 40);
  }),
  storeCase(
    'changes to a passed or returned item do not change the stored item',
    async ({ store, created }) => {
      await created('a');
      const content = { list: [1] };
      await store.enqueue('a', { id: 'i', content });
      content.list.push(2);
      const [first] = await inboxOf(store);
      assert.deepEqual(first?.content, { list: [1] });
      Reflect.set(first.content.list, 1, 3); // changes nothing, or only the returned item
      assert.deepEqual((await inboxOf(store))[0]?.content, { list: [1] });
    },
  ),
];
