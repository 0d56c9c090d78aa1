/** @import { StatusCounts, StatusDocument } from '../status-document.js' */
/** @import { FeedState } from './feed.js' */
import { conditions, nameOf } from './condition.js';
import { configurationNotice } from './configuration-notice.js';
import { byId, element, setAttribute, setText } from './elements.js';
import { Feed } from './feed.js';
import { Filters } from './filters.js';
import { headlineOf } from './headline.js';
import { HealthCards } from './health-cards.js';
import { MerchantList } from './merchant-list.js';
import { Selection } from './selection.js';
import { load } from './load.js';
import { ServerClock } from './server-clock.js';
import { after, every, monotonicMs } from './time.js';
import { agoText, countText, runbookPath, timeText } from './wording.js';

const DRAWN_EVERY_MS = 1_000;

/** @type {Readonly<Record<FeedState, string>>} */
const feedTexts = { connecting: 'Connecting', live: 'Live', asking: 'Every few seconds', lost: 'Disconnected' };

const clock = new ServerClock(monotonicMs);
const cards = new HealthCards(byId('cards', HTMLElement));
const list = new MerchantList(byId('rows', HTMLElement));
const selection = new Selection({ load, onAnswer: draw, after, monotonicMs });
const filters = new Filters({
  search: byId('search', HTMLInputElement),
  buttons: byId('filters', HTMLElement),
  onChange: () => {
    if (latest !== undefined) selection.refresh(latest, filters.value);
    draw();
  },
});

/** @type {StatusDocument | undefined} */
let latest;
/** @type {FeedState} */
let feedState = 'connecting';

/** @type {(id: string, text: string) => void} */
const write = (id, text) => setText(byId(id, HTMLElement), text);

function draw() {
  drawConnection();
  if (latest === undefined) return;
  const now = clock.now();
  const { counts } = latest;
  drawHeadline(latest, counts, now);
  drawNotice(latest, now);
  cards.draw(latest, now);
  filters.draw(counts);
  drawMerchants(latest, now);
}

/**
 * @param {StatusDocument} document
 * @param {number} now
 */
function drawMerchants(document, now) {
  const selected = selection.of(document, filters.value);
  if (selected === undefined) return write('rest', 'Searching');
  const { merchants, matching } = selected;
  list.show(merchants);
  list.draw(now);
  write('rest', restText(merchants.length, matching));
}

/**
 * @param {number} shown
 * @param {number} matching
 */
function restText(shown, matching) {
  if (matching === 0) return filters.isEmpty ? 'No merchant is configured.' : 'No merchant matches.';
  if (shown === matching) return '';
  return `${countText(matching - shown, 'merchant is', 'merchants are')} not shown: the first ${shown} are the ones to look at. Search to see others.`;
}

/**
 * @param {StatusDocument} document
 * @param {StatusCounts} counts
 * @param {number} now
 */
function drawHeadline(document, counts, now) {
  const { condition, text, ending, detail, runbook } = headlineOf(document, counts, now);
  const { replica } = document;
  setAttribute(byId('headline', HTMLElement), 'data-condition', condition);
  setAttribute(byId('headline-glyph', SVGElement), 'href', `#glyph-${condition}`);
  write('headline-words', text);
  write('headline-ending', ending);
  write('headline-detail', detail);
  drawRunbook('headline-runbook', runbook);
  write('replica-name', `${replica.name} · ${replica.version}`);
  const urgent = conditions
    .slice(0, conditions.indexOf('stale'))
    .reduce((sum, condition) => sum + counts[condition], 0);
  setTitle(urgent === 0 ? 'Session broker' : `(${urgent}) Session broker`);
  drawShares(counts);
}

/**
 * @param {StatusDocument} document
 * @param {number} now
 */
function drawNotice({ replica }, now) {
  const notice = configurationNotice(replica, now);
  write('configuration-text', notice?.text ?? '');
  drawRunbook('configuration-runbook', notice?.runbook);
  byId('configuration', HTMLElement).hidden = notice === undefined;
}

/**
 * @param {string} place the id of its link
 * @param {string | undefined} runbook
 */
function drawRunbook(place, runbook) {
  const link = byId(place, HTMLElement);
  link.hidden = runbook === undefined;
  if (runbook === undefined) return;
  setAttribute(link, 'href', runbookPath(runbook));
  setText(link, `Runbook: ${runbook}`);
}

/** @param {string} title */
function setTitle(title) {
  if (document.title !== title) document.title = title;
}

/** @param {StatusCounts} counts */
function drawShares(counts) {
  const shares = byId('shares', HTMLElement);
  if (shares.childElementCount === 0) {
    shares.append(...conditions.map((condition) => element('span', { 'data-condition': condition })));
  }
  const words = [];
  for (const [index, condition] of conditions.entries()) {
    const share = shares.children[index];
    if (!(share instanceof HTMLElement)) continue;
    share.style.flexGrow = String(counts[condition]);
    share.hidden = counts[condition] === 0;
    if (counts[condition] > 0) words.push(`${counts[condition]} ${nameOf(condition)}`);
  }
  setAttribute(shares, 'aria-label', `Merchants: ${words.join(', ')}`);
}

function drawConnection() {
  const banner = byId('banner', HTMLElement);
  setAttribute(byId('connection', HTMLElement), 'data-state', feedState);
  write('connection-text', feedTexts[feedState]);
  if (feedState === 'lost') {
    const news = latest === undefined ? 'nothing heard yet' : `last news at ${timeText(clock.newsAt(), clock.now())}`;
    setText(banner, `The connection to this replica is lost, ${news}. Trying again.`);
  }
  banner.hidden = feedState !== 'lost';
  const heard = latest === undefined ? '' : `Last news ${agoText(clock.sinceNewsMs())}. `;
  write('footnote', `${heard}Times are in UTC.`);
}

const feed = new Feed({
  after,
  load,
  open: () => new EventSource('status/events'),
  onState: (state) => {
    feedState = state;
    draw();
  },
  onDocument: (news) => {
    latest = news;
    clock.correct(news.at);
    selection.refresh(news, filters.value);
    draw();
  },
});

every(DRAWN_EVERY_MS, draw);
void feed.start();
