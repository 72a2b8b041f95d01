import { firstRed, plantedDefects } from '@holdfast/conformance/test';
import { expect, test } from 'vitest';
import { harness } from './support/harness.ts';
import { proxiedServer } from './support/proxied-server.ts';

const server = proxiedServer();
const { faults, measure } = server;

const REPEATED = 'The backend repeats a request whose connection breaks, so these wrappers see no error.';
const HIDDEN = {
  'reports a write whose reply did not arrive as not done': REPEATED,
  'throws the errors of its client': REPEATED,
  'treats a failed request as done': REPEATED,
  'removes used items after the save, in a second request': REPEATED,
  'reports a failed read as ambiguous': REPEATED,
};

test.for(plantedDefects({ ...harness(() => server.client), measure, faults }, HIDDEN))(
  'the cases find a store on Redis that $name',
  async (defect) => {
    await expect(firstRed(defect)).resolves.toBeDefined();
  },
);
