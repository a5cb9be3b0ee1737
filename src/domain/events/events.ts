export type EntityType =
  | 'AccessGroup'
  | 'Account'
  | 'Activity'
  | 'Administrator'
  | 'Alert'
  | 'Computer'
  | 'Credentials'
  | 'Invitation'
  | 'MessageBacklogSetting'
  | 'Person'
  | 'Preferences'
  | 'Role'
  | 'SavedSearch'
  | 'Script'
  | 'ScriptProfile'
  | 'UsgProfile'
  | 'Webhook';

export interface Origin {
  address: string;
  requestId: string;
}

export interface EventActor {
  /** Account whose log gets the event; 0 for none. */
  accountId: number;
  personId: number | null;
  /** Name at that time; later renames do not change the log. */
  name: string;
  origin: Origin;
}

export interface NewEvent {
  entityType: EntityType;
  entityId: number | null;
  entityName: string;
  /** One English sentence without passwords, tokens, keys or secret ids. */
  message: string;
}
