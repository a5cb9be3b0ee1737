import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { SEARCH_ATTRIBUTE_NAMES as NAMES } from './search-attribute-names.ts';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** Set at start, never changed. All Keyword: SQL visibility has only three Int columns. @see docs/architecture.md#search-attributes */
export const SEARCH_ATTRIBUTES = {
  accountId: keyword(NAMES.accountId),
  activityType: keyword(NAMES.activityType),
  computerId: keyword(NAMES.computerId),
  groupId: keyword(NAMES.groupId),
  /** Of an action on one computer: its first operation. */
  operationId: keyword(NAMES.operationId),
  personId: keyword(NAMES.personId),
  profileId: keyword(NAMES.profileId),
} as const;
