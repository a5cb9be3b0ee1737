import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/stack/global-setup.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    // One second, which it would be, is short where several runs share a machine.
    expect: { poll: { timeout: 20_000 } },
  },
});
