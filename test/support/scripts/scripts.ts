/** A valid body of POST /scripts. */
export const script = (over: object = {}) => ({ title: 'Say hello', code: '#!/bin/bash\necho hello\n', ...over });

/** Text as attachments carry it. */
export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A valid body of POST /script-profiles at the time of the test clocks, 2026-11-21T12:00:00Z. */
export const scriptProfile = (scriptId: number, over: object = {}) => ({
  title: 'Nightly',
  script_id: scriptId,
  all_computers: true,
  tags: [],
  time_limit: 60,
  username: 'root',
  trigger: { trigger_type: 'recurring', start_after: '2026-11-20T00:00:00Z', interval: '30 2 * * *' },
  ...over,
});
