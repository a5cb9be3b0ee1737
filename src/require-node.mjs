// Preloaded by every npm script: MikroORM and native TypeScript need Node 22.18 or newer, and an older one fails unreadably.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Flotilla needs Node 22.18 or newer; this is ${process.versions.node}. ` +
      'Run it by its npm scripts (npm start, npm test, ...): npm ci brings Node 24 along for Linux.\n',
  );
  process.exit(1);
}
