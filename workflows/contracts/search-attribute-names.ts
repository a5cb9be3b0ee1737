/** Names of the search attributes, apart from the SDK: the embedded server is started with them. */
export const SEARCH_ATTRIBUTE_NAMES = {
  accountId: 'FleetAccountId',
  activityType: 'FleetActivityType',
  computerId: 'FleetComputerId',
  groupId: 'FleetGroupId',
  operationId: 'FleetOperationId',
  personId: 'FleetPersonId',
  profileId: 'FleetProfileId',
} as const;
