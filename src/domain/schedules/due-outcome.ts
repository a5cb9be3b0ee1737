/**
 * What became of a date: `busy` everything was still at work for an earlier one; `known` it has its run already, or the
 * only run there is to be was made before it; `superseded` a later date is due as well and takes its place; `too-soon`
 * the run before it is closer than the account's limits allow; `not-planned` the profile has been changed since, or the
 * date still lies ahead; `archived` there is no active profile any more.
 */
export type DueOutcome = 'started' | 'busy' | 'known' | 'superseded' | 'too-soon' | 'not-planned' | 'archived';
