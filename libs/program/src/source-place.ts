import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** Where the engine says that a frame is: in a file that was bundled from others. */
const PLACE = /(file:\/\/\S+\.js):(\d+):(\d+)/;

/**
 * A stack frame with its place in the sources, if the file that it names has a map next to it; any other frame
 * unchanged. The map is read only now: a process that loads maps at its start keeps 6 MiB of them. Never throws.
 */
export function inSource(frame: string): string {
  const [place, url, line, column] = PLACE.exec(frame) ?? [];
  if (place === undefined) return frame;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')) as SourceMap['payload']);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!('fileName' in origin)) return frame;
    const file = origin.fileName.replace(/^(?:\.\.\/)+/, '');
    return frame.replace(place, `${file}:${origin.lineNumber}:${origin.columnNumber}`);
  } catch {
    // There is no such map, or it is not valid. Whoever reads the frame is no worse off.
    return frame;
  }
}
