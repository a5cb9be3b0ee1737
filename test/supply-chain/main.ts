import { mkdirSync, writeFileSync } from 'node:fs';
import { readPackages } from './lock-file.ts';
import { reportSupplyChain } from './report.ts';
import { createSbom } from './sbom.ts';

const SBOM_FILE = 'build/sbom.json';

if (process.argv.includes('--sbom')) {
  const { manifest, lock } = readPackages();
  const sbom = createSbom(manifest, lock);
  mkdirSync('build', { recursive: true });
  writeFileSync(SBOM_FILE, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${SBOM_FILE}: ${sbom.components.length} components, CycloneDX ${sbom.specVersion}`);
} else {
  const { text, problems } = await reportSupplyChain();
  console.log(text);
  for (const problem of problems) console.error(`problem: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
