/** Kinds of objects in the event log. */
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
  | 'UsgProfile';

/** Origin of a request. */
export interface Origin {
  /** Network address of the client. */
  address: string;
  /** Also sent in the response. */
  requestId: string;
}

/** Who caused an event; any `Caller` qualifies. */
export interface EventActor {
  /** Account whose log gets the event; 0 for none. */
  accountId: number;
  /** Null when unknown. */
  personId: number | null;
  /** Name at that time; later renames do not change the log. */
  name: string;
  origin: Origin;
}

export interface NewEvent {
  entityType: EntityType;
  /** Null for objects without a numeric id. */
  entityId: number | null;
  /** Name or title at that time. */
  entityName: string;
  /** One English sentence without passwords, tokens, keys or secret ids. */
  message: string;
}
