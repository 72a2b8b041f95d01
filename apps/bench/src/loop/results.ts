import type { PeerName } from './peers.ts';
import type { Metric, Metrics } from './workloads.ts';

/** What was measured, by round. */
export class Results {
  private readonly rounds: Map<PeerName, Metrics>[] = [];

  /** Adds what a peer needed in a round, counted from 0. */
  add(round: number, peer: PeerName, metrics: Metrics): void {
    const byPeer = (this.rounds[round] ??= new Map());
    byPeer.set(peer, { ...byPeer.get(peer), ...metrics });
  }

  /** One number of every round that measured the peer. */
  values(peer: PeerName, metric: Metric): readonly number[] {
    return defined(this.rounds.map((byPeer) => byPeer.get(peer)?.[metric]));
  }

  /** A peer beside another, in every round that measured both. */
  ratios(peer: PeerName, other: PeerName, metric: Metric): readonly number[] {
    const ratios = this.rounds.map((byPeer) => {
      const [own, base] = [byPeer.get(peer)?.[metric], byPeer.get(other)?.[metric]];
      return own !== undefined && base !== undefined ? own / base : undefined;
    });
    return defined(ratios);
  }

  /** How a number grows with the steps: 1 is in proportion, 2 with their square. */
  exponents(peer: PeerName, metric: 'steps' | 'heap', from: number, to: number): readonly number[] {
    const exponents = this.rounds.map((byPeer) => {
      const metrics = byPeer.get(peer);
      const [low, high] = [metrics?.[`${metric} ${from}`], metrics?.[`${metric} ${to}`]];
      if (low === undefined || high === undefined) return undefined;
      return Math.log(high / low) / Math.log(to / from);
    });
    return defined(exponents);
  }
}

function defined(values: readonly (number | undefined)[]): readonly number[] {
  return values.filter((value) => value !== undefined);
}
