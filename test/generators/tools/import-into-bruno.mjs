/**
 * Imports a Postman collection as Bruno does.
 *
 * Usage: node import-into-bruno.mjs <collection> <new directory>
 */
import { mkdir, readFile } from "node:fs/promises";
import collections from "@usebruno/cli/src/utils/collection.js";
import { postmanToBruno } from "@usebruno/converters";

const [, , file, directory] = process.argv;
const { collection } = await postmanToBruno(JSON.parse(await readFile(file, "utf8")));
await mkdir(directory);
await collections.createCollectionFromBrunoObject(collection, directory, { format: "bru" });
