/** A valid body of POST /usg-profiles at the time of the test clock, 2026-11-21T12:00:00Z. */
export const usgProfile = (over: object = {}) => ({
  title: 'Monthly baseline',
  benchmark: 'cis_level1_server',
  mode: 'audit',
  schedule: 'FREQ=WEEKLY;BYDAY=MO',
  start_date: '2026-12-01T02:00:00Z',
  all_computers: true,
  ...over,
});
