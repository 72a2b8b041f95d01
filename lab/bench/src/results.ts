import { median } from './measure.ts';
import { inUnit } from './report.ts';

/** Numbers by metric. */
export type Metrics<Metric extends string> = Partial<Record<Metric, number>>;

/** The measured values, by round. */
export class Results<Peer extends string, Metric extends string> {
  private readonly rounds: Map<Peer, Metrics<Metric>>[] = [];

  /** Adds the numbers of a peer in a round, counted from 0. */
  add(round: number, peer: Peer, metrics: Metrics<Metric>): void {
    const byPeer = (this.rounds[round] ??= new Map());
    byPeer.set(peer, { ...byPeer.get(peer), ...metrics });
  }

  /** One number of every round that measured the peer. */
  values(peer: Peer, metric: Metric): readonly number[] {
    return defined(this.rounds.map((byPeer) => byPeer.get(peer)?.[metric]));
  }

  /** The ratio of a peer to another, in every round that measured both. */
  ratios(peer: Peer, other: Peer, metric: Metric): readonly number[] {
    const ratios = this.rounds.map((byPeer) => {
      const [own, base] = [byPeer.get(peer)?.[metric], byPeer.get(other)?.[metric]];
      return own !== undefined && base !== undefined ? own / base : undefined;
    });
    return defined(ratios);
  }

  /** The ratio of two numbers of a peer, in every round that measured both. */
  growths(peer: Peer, from: Metric, to: Metric): readonly number[] {
    const growths = this.rounds.map((byPeer) => {
      const metrics = byPeer.get(peer);
      const [low, high] = [metrics?.[from], metrics?.[to]];
      return low !== undefined && high !== undefined ? high / low : undefined;
    });
    return defined(growths);
  }

  /** How a number grows from one metric to another, `times` larger: 1 is in proportion, 2 with the square. */
  exponents(peer: Peer, from: Metric, to: Metric, times: number): readonly number[] {
    return this.growths(peer, from, to).map((growth) => Math.log(growth) / Math.log(times));
  }

  /** The cell of a table: the median of the rounds, and in brackets the median of their ratios to another peer. */
  cell(peer: Peer, base: Peer, metric: Metric, scale = 1): string {
    const value = inUnit(median(this.values(peer, metric)) * scale);
    const ratio = inUnit(median(this.ratios(peer, base, metric)));
    return ratio === '–' ? value : `${value} (${ratio})`;
  }
}

function defined(values: readonly (number | undefined)[]): readonly number[] {
  return values.filter((value) => value !== undefined);
}
