/** Fields by path, each with the rule that no schema can express. */
type Rules = Readonly<Record<string, string>>;

const TAGS: Rules = { 'body.tags': 'letters of every script: the generator does not know \\p{L}' };
const PRIOR: Rules = { 'body.after': 'an activity that does something on each of the computers' };
const DELIVERY: Rules = { ...PRIOR, 'body.deliver_after': 'in the future, on a day that the calendar has' };
const KERNEL: Rules = {
  ...DELIVERY,
  'query.deliver_after': DELIVERY['body.deliver_after']!,
  'body.kernel_package_id': 'given here or in the query',
};
const CURSOR: Rules = { 'query.after': 'an id of an event, a cursor, `oldest` or `latest`, also as Last-Event-ID' };
const SEARCHES: Rules = { 'body.searches': 'of the saved searches that the query names, with their texts' };
const TITLE: Rules = { 'body.computer_title': 'the title that the computer has' };
const ATTACHMENTS: Rules = {
  'body.attachments': 'names that come once, base64, content for what is new, at most 1 MB together',
};
const TIMEZONE: Rules = { 'body.timezone': 'a known time zone' };
const TRIGGER: Rules = {
  ...TIMEZONE,
  'body.trigger': 'cron fields; fields of the type that is stored; days that the calendar has, 1900 to 2099 in UTC',
};
const SCHEDULE: Rules = { ...TIMEZONE, 'body.schedule': 'a recurrence rule that has a date' };
const START: Rules = { 'body.start_date': 'on a day that the calendar has, 1900 to 2099 in UTC' };

/**
 * Schemathesis makes data from the schemas alone. Where one of these fields is rejected as InvalidParameter the document
 * is not wrong; everything else that the schemas allow has to be taken. By `operationId`.
 */
export const FIELD_RULES: Readonly<Record<string, Rules>> = {
  actOnPackages: DELIVERY,
  actOnSnaps: { ...DELIVERY, 'body.snaps': 'names that come once, a time that the calendar has' },
  addComputerTags: { ...TAGS, ...SEARCHES, 'body.query': 'a query that can be read' },
  annotateComputers: SEARCHES,
  approveActivities: SEARCHES,
  archiveComputer: TITLE,
  cancelActivities: SEARCHES,
  changeComputerAccessGroup: SEARCHES,
  changePassword: { 'body.new_password': '12 to 128 characters once it is in one Unicode form, and no common one' },
  changeSavedSearch: { 'body.search': 'has a term' },
  createCredential: { 'body.expires_at': 'in the future, on a day that the calendar has' },
  createSavedSearch: { 'body.title': 'has a letter or digit where there is no name', 'body.search': 'has a term' },
  createScript: ATTACHMENTS,
  createScriptProfile: { ...TAGS, ...TRIGGER },
  login: { 'body.password': 'good enough for a newcomer where an invitation is used' },
  createStandaloneAccount: { 'body.password': 'strong where that is wanted, and no common one' },
  createUsgProfile: {
    ...TAGS,
    ...SCHEDULE,
    ...START,
    'body.tailoring_file': 'well-formed XML without DTD',
  },
  createWebhook: { 'body.url': 'a URL without user information, fragment and private address' },
  deleteAccessGroup: { access_group_name: 'not the root' },
  downgradeKernel: KERNEL,
  editComputer: TAGS,
  executeScript: { ...DELIVERY, ...SEARCHES, 'body.query': 'finds a computer, and not too many' },
  executeUsgProfile: PRIOR,
  generateRecoveryKey: PRIOR,
  getUsgProfileReport: {
    'query.start_date': 'on a day that the calendar has',
    'query.end_date': 'on a day that the calendar has, not before the start',
  },
  killProcesses: PRIOR,
  listEvents: CURSOR,
  listUsgProfiles: { 'query.pass_rate_from': 'not above pass_rate_to' },
  patchScript: ATTACHMENTS,
  patchScriptProfile: { ...TAGS, ...TRIGGER },
  patchUsgProfile: { ...TAGS, ...SCHEDULE },
  previewNewScriptProfileDates: TRIGGER,
  previewNewUsgProfileDates: { ...SCHEDULE, ...START },
  previewScriptProfileDates: TRIGGER,
  previewUsgProfileDates: SCHEDULE,
  reapplyActivities: PRIOR,
  redeliverWebhook: { 'body.delivery_ids': 'of deliveries of the webhook' },
  removeComputerAnnotation: SEARCHES,
  removeComputerTags: SEARCHES,
  replayWebhook: { 'body.after': 'a cursor of the feed', 'body.before': 'a cursor of the feed' },
  restartComputer: DELIVERY,
  revertActivities: PRIOR,
  sanitizeComputer: { ...PRIOR, ...TITLE },
  shutDownComputer: DELIVERY,
  streamEvents: CURSOR,
  terminateProcesses: PRIOR,
  updatePerson: { ...TIMEZONE, 'body.preferred_account': 'one of the own accounts' },
  updateWebhook: { 'body.url': 'a URL without user information, fragment and private address' },
  upgradeKernel: KERNEL,
};
