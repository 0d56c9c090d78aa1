import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

const GIB = 1_073_741_824;

/** What the figures of a run depend on besides the program: without it they cannot be compared. */
export function machineInWords(): string {
  const model = cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim();
  const processors = `${availableParallelism()} processors${model === undefined || model === '' ? '' : ` (${model})`}`;
  const memory = `${(totalmem() / GIB).toFixed(0)} GiB of memory`;
  return `${processors}, ${memory}, ${platform()} ${release()} ${arch()}, Node.js ${process.versions.node}`;
}
