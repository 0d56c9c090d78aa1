/** @import { StatusCounts, StatusDocument } from '../status-document.js' */
/** @import { News } from './feed.js' */
import { conditions } from './condition.js';
import { byId, setAttribute, setText } from './elements.js';
import { Feed, load } from './feed.js';
import { Filters } from './filters.js';
import { headlineOf } from './headline.js';
import { configurationNotice, drawHealth } from './health.js';
import { MerchantRows } from './merchant-rows.js';
import { after } from './time.js';
import { countText, runbookPath, timeText } from './wording.js';

/** @type {(id: string) => HTMLElement} */
const place = (id) => byId(id, HTMLElement);
/** @type {(id: string, text: string) => void} */
const write = (id, text) => setText(place(id), text);

const rows = new MerchantRows(place('rows'));
const filters = new Filters({
  tools: place('tools'),
  search: byId('search', HTMLInputElement),
  buttons: place('filters'),
  onChange: () => void feed.ask(),
});
const feed = new Feed({ load: () => load(filters.value), onNews: draw, after });

/** Of the last news. */
let heard = 'nothing heard yet';

/** @param {News | undefined} news */
function draw(news) {
  place('banner').hidden = news !== undefined;
  if (news === undefined) return write('banner', `The connection to this replica is lost, ${heard}. Trying again.`);
  const { whole, found } = news;
  const { at, replica, counts } = whole;
  heard = `last news at ${timeText(at, at)}`;
  write('replica', `${replica.name} · ${replica.version} · ${timeText(at, at)}`);
  drawHeadline(whole);
  drawNotice(whole);
  drawHealth(place('cards'), whole);
  filters.draw(counts);
  rows.draw(found.merchants, at);
  write('rest', restText(found));
}

/** @param {StatusDocument} found */
function restText({ merchants: { length: shown }, matching }) {
  if (matching === 0) return 'No merchant matches.';
  if (shown === matching) return '';
  return `${countText(matching - shown, 'merchant is', 'merchants are')} not shown: the first ${shown} are the ones to look at. Search to see others.`;
}

/** @param {StatusDocument} document */
function drawHeadline(document) {
  const { counts, at } = document;
  const { condition, text, ending, detail, runbook } = headlineOf(document, counts, at);
  setAttribute(place('headline'), 'data-condition', condition);
  write('headline-words', text);
  write('headline-ending', ending);
  write('headline-detail', detail);
  drawRunbook('headline-runbook', runbook);
  drawTitle(counts);
}

/** @param {StatusCounts} counts */
function drawTitle(counts) {
  const urgent = conditions
    .slice(0, conditions.indexOf('stale'))
    .reduce((sum, condition) => sum + counts[condition], 0);
  const title = urgent === 0 ? 'Session broker' : `(${urgent}) Session broker`;
  if (document.title !== title) document.title = title;
}

/** @param {StatusDocument} document */
function drawNotice({ replica, at }) {
  const notice = configurationNotice(replica, at);
  write('configuration-text', notice?.text ?? '');
  drawRunbook('configuration-runbook', notice?.runbook);
  place('configuration').hidden = notice === undefined;
}

/**
 * @param {string} id of its link
 * @param {string | undefined} runbook
 */
function drawRunbook(id, runbook) {
  const link = place(id);
  link.hidden = runbook === undefined;
  if (runbook === undefined) return;
  setAttribute(link, 'href', runbookPath(runbook));
  setText(link, `Runbook: ${runbook}`);
}

void feed.ask();
