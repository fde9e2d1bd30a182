import { ulid } from "ulid";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { pick, seeded, skewed } from "./random.ts";

const words = (text: string) => text.split(/\s+/);

const firstNames = words(
  `Ada Grace Alan Edsger Barbara Donald Frances Ken Margaret Dennis Radia Linus Sophie Tim Karen Vint Hedy Niklaus
  Joan Bjarne Mary Guido Anita John Adele Leslie Shafi Tony Yukihiro Lixia`,
);
const lastNames = words(
  `Lovelace Hopper Turing Dijkstra Liskov Knuth Allen Thompson Hamilton Ritchie Perlman Novák Wilson García Jones
  Øvrebø Lamarr Wirth Clarke Müller Jackson Rossum Borg McCarthy Goldberg Lamport Goldwasser Hoare Matsumoto Zhang`,
);
const hosts = words(
  `gmail.example outlook.example icloud.example northwind.example contoso.example fabrikam.example tailspin.example
  globex.example initech.example umbrella.example hooli.example`,
);

/** The tags that forms, advertisements and colleagues give a lead: one of each line. */
const tags = [
  "campaign:spring-webinar-2026 campaign:black-friday-2026 campaign:newsletter-september",
  "region:emea region:north-america region:latam region:asia-pacific",
  "industry:software industry:real-estate industry:health-care industry:education",
  "company-size:1-10 company-size:11-50 company-size:51-200 company-size:201-1000",
  "role:head-of-sales role:founder role:marketing-manager role:consultant",
  "language:de language:en-GB language:en-US language:pt-BR language:es",
  "lifecycle:marketing-qualified lifecycle:sales-qualified lifecycle:opportunity",
  "interest:enterprise-plan interest:automation interest:analytics interest:integrations",
  "consent:newsletter consent:newsletter-and-calls consent:none",
  "owner:team-north owner:team-south owner:team-enterprise owner:unassigned",
  "needs-follow-up asked-for-a-demo reads-the-newsletter met-at-a-trade-fair",
].map(words);

/** The newest lead was created at this time, in milliseconds since the epoch. */
const newest = Date.UTC(2026, 10, 21, 15);

/** The mean time between two leads, in milliseconds. */
const interval = 20 * 60 * 1000;

/** Leads with many tags, as a sales team has them, of about 450 bytes each, newest first; the same in every run. */
export function realisticLeads(count: number): Lead[] {
  const random = seeded(1);
  const status = skewed<Lead["status"]>(random, [
    ["new", 80],
    ["qualified", 15],
    ["booked", 5],
  ]);
  const source = skewed(random, [
    ["website", 60],
    ["instagram", 25],
    ["referral", 10],
    ["trade-fair-2026", 5],
  ]);
  let time = newest;
  return Array.from({ length: count }, () => {
    time -= Math.floor(2 * interval * random());
    const [first, last] = [pick(random, firstNames), pick(random, lastNames)];
    const mailbox = `${first}.${last}`.toLowerCase().replace(/[^a-z.]/g, "");
    const reached = status();
    return {
      id: `lead_${ulid(time, random)}`,
      name: `${first} ${last}`,
      email: `${mailbox}@${pick(random, hosts)}`,
      score: reached === "new" ? 0 : Math.floor(101 * random()),
      status: reached,
      source: source(),
      tags: tags.map((line) => pick(random, line)),
      createdAt: new Date(time).toISOString(),
    };
  });
}
