/** The measured values of the scenes. */
export type SceneMetric =
  | 'kills'
  | 'sessions'
  | 'least'
  | 'median'
  | 'most'
  | 'bound'
  | 'othersBefore'
  | 'othersDuring'
  | 'othersRatio'
  | 'limitedBefore'
  | 'limitedDuring'
  | 'smallestAlone'
  | 'totalAlone'
  | 'smallestGrouped'
  | 'totalGrouped';
