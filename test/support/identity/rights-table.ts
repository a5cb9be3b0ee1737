import type { DocumentedOperation } from '../http/sample-requests.ts';

/** Which operations, what they need, which seeded roles may call them. */
interface Row {
  operations: RegExp;
  needs: DocumentedOperation['access'];
  /** G GlobalAdmin, A Auditor, S SupportAnalyst, D ServerAdmin and DesktopAdmin. */
  roles: 'GASD' | 'GSD' | 'GD' | 'GA' | 'G' | 'everybody';
}

/** What a token from an access key may not do: leave its account, make ways in, change the person. */
export const NEEDS_LOGIN =
  /^\w+ \/(credentials(\/\{access_key\})?|person(:confirm-email)?|administrators\/\{person_id\}:confirm-email|password|switch-account|accounts|(accept|reject)-invitation|tokens\/invalidate-(me|system)(\/.*)?)$/;

/**
 * The decided matrix, first match first. The document's `x-permission` is what the server holds; this table is what it
 * is judged by, so that neither can be wrong alone.
 */
export const RIGHTS_TABLE: readonly Row[] = [
  { operations: /^(POST \/login(\/access-key)?|GET \/login\/methods)$/, needs: 'none', roles: 'everybody' },
  { operations: /^(GET|POST) \/standalone-account$/, needs: 'none', roles: 'everybody' },
  { operations: /^GET \/invitations\/\{secure_id\}\/summary$/, needs: 'none', roles: 'everybody' },
  { operations: /^POST \/tokens\/invalidate-account$/, needs: ['ManageAccount'], roles: 'G' },
  {
    operations:
      /^\w+ \/(person(:(test|confirm)-email)?|me|logout|password|credentials(\/\{access_key\})?|switch-account|accept-invitation|reject-invitation|tokens\/.*)$/,
    needs: 'token',
    roles: 'everybody',
  },
  { operations: /^POST \/accounts$/, needs: 'token', roles: 'everybody' },
  {
    operations: /^GET \/(access-groups|activity-types|features|message-backlog-settings)(\/|$)/,
    needs: 'account',
    roles: 'GASD',
  },
  { operations: /^\w+ \/saved-searches(\/|$)/, needs: 'account', roles: 'GASD' },
  { operations: /^GET \/(administrators|invitations|roles|permissions)(\/|$)/, needs: ['ViewRole'], roles: 'GA' },
  { operations: /^\w+ \/(administrators|invitations|roles|access-groups)(\/|$)/, needs: ['ManageRole'], roles: 'G' },
  { operations: /^(PUT|DELETE) \/message-backlog-settings$/, needs: ['ManageAccount'], roles: 'G' },
  { operations: /^(GET|PATCH) \/preferences$/, needs: ['ManageAccount'], roles: 'G' },
  { operations: /^GET \/events$/, needs: ['ViewEventLog'], roles: 'GA' },
  { operations: /^\w+ \/pending-computers(:|$)/, needs: ['ManagePendingComputer'], roles: 'GD' },
  { operations: /^POST \/alerts\//, needs: ['ViewComputer'], roles: 'GASD' },
  { operations: /^GET \/tags$/, needs: ['ViewComputer'], roles: 'GASD' },
  { operations: /^GET \/usg-profiles(\/|$)/, needs: ['ViewUsgProfile'], roles: 'GASD' },
  { operations: /^\w+ \/usg-profiles([/:]|$)/, needs: ['ManageUsgProfile'], roles: 'GD' },
  { operations: /^GET \/script-profile(s|-limits)(\/|$)/, needs: ['ViewScriptProfile'], roles: 'GASD' },
  { operations: /^\w+ \/script-profiles([/:]|$)/, needs: ['ManageScriptProfile', 'ExecuteScript'], roles: 'GD' },
  {
    operations: /^GET \/scripts\/\{script_id\}\/script-profiles$/,
    needs: ['ViewScript', 'ViewScriptProfile'],
    roles: 'GASD',
  },
  { operations: /^GET \/scripts(\/|$)/, needs: ['ViewScript'], roles: 'GASD' },
  { operations: /^POST \/scripts\/\{script_id\}:execute$/, needs: ['ExecuteScript'], roles: 'GSD' },
  { operations: /^\w+ \/scripts([/:]|$)/, needs: ['ManageScript'], roles: 'GD' },
  { operations: /\/recovery-key/, needs: ['ManageComputer', 'ManageSecrets'], roles: 'G' },
  { operations: /^GET \/(computers|activities|alerts|packages)(\/|$)/, needs: ['ViewComputer'], roles: 'GASD' },
  {
    operations: /^\w+ \/(computers|activities|snaps|processes|packages)([/:]|$)/,
    needs: ['ManageComputer'],
    roles: 'GSD',
  },
];
