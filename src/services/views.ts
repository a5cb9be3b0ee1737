export type { AccessGroupRow as AccessGroupView } from '../persistence/repositories/access-groups.repository.ts';
export type { AccountRow as AccountView } from '../persistence/repositories/accounts.repository.ts';
export type { InvitationRow as InvitationView } from '../persistence/repositories/invitations.repository.ts';
export type { PersonRow as PersonView } from '../persistence/repositories/people.repository.ts';
export type { PreferencesRow as PreferencesView } from '../persistence/repositories/preferences.repository.ts';
export type { RoleRow as RoleView } from '../persistence/repositories/roles.repository.ts';
export type { Credential as CredentialView } from './credentials.service.ts';
export type { LoginResult as LoginResultView } from './sessions.ts';
