import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/**
 * Typed search attributes, set at start and never changed. All Keyword: a namespace on SQL visibility has only three
 * Int columns. `FleetComputerId` is set only for batches of one computer, `FleetPersonId` only for activities that a
 * person requested.
 * @see docs/architecture.md#search-attributes
 */
export const SEARCH_ATTRIBUTES = {
  accountId: defineSearchAttributeKey('FleetAccountId', SearchAttributeType.KEYWORD),
  activityType: defineSearchAttributeKey('FleetActivityType', SearchAttributeType.KEYWORD),
  computerId: defineSearchAttributeKey('FleetComputerId', SearchAttributeType.KEYWORD),
  groupId: defineSearchAttributeKey('FleetGroupId', SearchAttributeType.KEYWORD),
  personId: defineSearchAttributeKey('FleetPersonId', SearchAttributeType.KEYWORD),
  profileId: defineSearchAttributeKey('FleetProfileId', SearchAttributeType.KEYWORD),
} as const;
