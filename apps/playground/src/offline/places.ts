/** Well known cities and the IANA time zone each lies in. */
const zones: ReadonlyMap<string, string> = new Map([
  ['amsterdam', 'Europe/Amsterdam'],
  ['athens', 'Europe/Athens'],
  ['bangkok', 'Asia/Bangkok'],
  ['beijing', 'Asia/Shanghai'],
  ['berlin', 'Europe/Berlin'],
  ['buenos aires', 'America/Argentina/Buenos_Aires'],
  ['cairo', 'Africa/Cairo'],
  ['chicago', 'America/Chicago'],
  ['delhi', 'Asia/Kolkata'],
  ['dubai', 'Asia/Dubai'],
  ['hong kong', 'Asia/Hong_Kong'],
  ['istanbul', 'Europe/Istanbul'],
  ['johannesburg', 'Africa/Johannesburg'],
  ['lagos', 'Africa/Lagos'],
  ['lisbon', 'Europe/Lisbon'],
  ['london', 'Europe/London'],
  ['los angeles', 'America/Los_Angeles'],
  ['madrid', 'Europe/Madrid'],
  ['mexico city', 'America/Mexico_City'],
  ['moscow', 'Europe/Moscow'],
  ['mumbai', 'Asia/Kolkata'],
  ['nairobi', 'Africa/Nairobi'],
  ['new york', 'America/New_York'],
  ['paris', 'Europe/Paris'],
  ['rome', 'Europe/Rome'],
  ['san francisco', 'America/Los_Angeles'],
  ['sao paulo', 'America/Sao_Paulo'],
  ['seoul', 'Asia/Seoul'],
  ['shanghai', 'Asia/Shanghai'],
  ['singapore', 'Asia/Singapore'],
  ['stockholm', 'Europe/Stockholm'],
  ['sydney', 'Australia/Sydney'],
  ['tokyo', 'Asia/Tokyo'],
  ['toronto', 'America/Toronto'],
  ['vienna', 'Europe/Vienna'],
  ['zurich', 'Europe/Zurich'],
]);
const cities = new RegExp(String.raw`\b(?:${[...zones.keys()].join('|')})\b`, 'g');
const zoneNames = /\b[A-Z][A-Za-z]+\/[A-Z][\w+-]*(?:\/[A-Z]\w*)?|\b(?:UTC|GMT)\b/g;

/** The IANA time zones that a text names, by name or by city, each once, in no particular order. */
export function findTimeZones(text: string): readonly string[] {
  const plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const named = text.match(zoneNames) ?? [];
  const unnamed = named.reduce((rest, name) => rest.replace(name.toLowerCase(), ' '), plain);
  const fromCities = (unnamed.match(cities) ?? []).flatMap((city) => zones.get(city) ?? []);
  return [...new Set([...named, ...fromCities])];
}
