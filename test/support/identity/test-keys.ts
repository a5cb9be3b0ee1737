/** The key of recorded histories and of whatever tests encrypt. */
export const TEST_KEYS = [{ id: 'test', key: Buffer.alloc(32, 7) }];
