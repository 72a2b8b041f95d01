/** The engine cases that no `PollingEngine` passes, with the reason. `docs/guide/polling.md` lists them too. */
export const FAILED_BY_DESIGN: Readonly<Record<string, string>> = {
  'reopening: the priorities of wake-ups are stored': 'a session store stores no priority',
  'reopening: the lanes of wake-ups are stored: lanes take turns': 'a session store stores no lane',
  'reopening: the groups of wake-ups are stored: groups take turns': 'a session store stores no group',
  'reopening: the pause of a lane is stored': 'pauses of lanes hold in one process',
  'sharing: priorities hold for the wake-ups of both engines': 'a session store stores no priority',
  'sharing: lanes take turns among the wake-ups of both engines': 'a session store stores no lane',
  'sharing: groups take turns among the wake-ups of both engines': 'a session store stores no group',
  'sharing: a throttled lane starts no session on the other engine': 'pauses of lanes hold in one process',
};
