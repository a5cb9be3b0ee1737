import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Set at start, never changed. All Keyword: SQL visibility has only three Int columns. @see docs/architecture.md#search-attributes */
export const SEARCH_ATTRIBUTES = {
  accountId: defineSearchAttributeKey('FleetAccountId', SearchAttributeType.KEYWORD),
  activityType: defineSearchAttributeKey('FleetActivityType', SearchAttributeType.KEYWORD),
  computerId: defineSearchAttributeKey('FleetComputerId', SearchAttributeType.KEYWORD),
  groupId: defineSearchAttributeKey('FleetGroupId', SearchAttributeType.KEYWORD),
  /** Of an action on one computer: its first operation. */
  operationId: defineSearchAttributeKey('FleetOperationId', SearchAttributeType.KEYWORD),
  personId: defineSearchAttributeKey('FleetPersonId', SearchAttributeType.KEYWORD),
  profileId: defineSearchAttributeKey('FleetProfileId', SearchAttributeType.KEYWORD),
} as const;
